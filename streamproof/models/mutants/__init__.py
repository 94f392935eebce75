"""The mistakes that a model's properties must catch, in its folder and under its file name."""
