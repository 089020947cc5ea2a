// node ours.mjs SPOOL.json TARGET plain|styled: started as bin/wharf.mjs starts Wharf.
await import('../../../bin/tune.mjs')
await import('./ours.ts')
