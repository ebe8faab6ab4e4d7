"""The synthetic benchmark of section 4 and appendices A and B: models trained with planted cues."""
