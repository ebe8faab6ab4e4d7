"""Rankings of images by how surely they show a cue, and what stands between them and a cause."""
