/** The spool does not hold what its index says. Named by its code alone: threads do without the product's table. */
export class SpoolBroken extends Error {
  readonly code = 'SPOOL_DAMAGED'
}
