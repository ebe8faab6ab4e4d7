"""What `cuescope covar build` does: photos with masks to images on many backgrounds."""
