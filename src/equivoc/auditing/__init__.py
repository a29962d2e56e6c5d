"""What answered queries disclose about each person, and which statements did it."""
