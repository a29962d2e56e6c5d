"""One release, measured: figures of each class and person, several attributes, a control group, the privacy budget."""
