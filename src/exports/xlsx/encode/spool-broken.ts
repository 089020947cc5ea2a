/** The spool does not hold what its index says. Threads throw this, the pool gives it the product's error code. */
export class SpoolBroken extends Error {}
