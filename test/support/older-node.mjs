// Imported before bin/wharf.mjs where no older Node is at hand: it takes this Node for an old one.
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } })
