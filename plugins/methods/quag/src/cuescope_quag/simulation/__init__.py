"""The simulation study of QUAG (section 3): data whose modalities are coupled by a dial."""
