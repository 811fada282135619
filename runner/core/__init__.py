"""Values in, values out: nothing in here touches the world."""
