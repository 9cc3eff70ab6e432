"""Who is wrong: from a promise and what an engine answered to one verdict, and to votes on a difference."""
