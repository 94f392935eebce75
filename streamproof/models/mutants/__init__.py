"""The mistakes that a model's properties must catch, under the model's file name."""
