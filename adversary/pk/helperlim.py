TOP = 5
