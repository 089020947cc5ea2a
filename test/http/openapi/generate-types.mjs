// generate-types.mjs DOCUMENT FILE: runs openapi-typescript, which prints through the compiler API of TypeScript 5.
// TypeScript 7, which checks this repository, has no such API yet, so its import leads to `typescript-5`.
import { readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
})

const { default: openapiTs, astToString } = await import('openapi-typescript')
const [, , document, file] = process.argv
writeFileSync(file, astToString(await openapiTs(JSON.parse(readFileSync(document, 'utf8')))))
