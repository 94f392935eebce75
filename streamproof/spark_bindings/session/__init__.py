"""What Spark runs in: Java, a Spark home, and a session whose settings lose nothing."""
