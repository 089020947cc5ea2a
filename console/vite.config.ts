import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const OUT = fileURLToPath(new URL('../dist/console', import.meta.url))

const SHARED =
  /console\/src\/(api|live|parts)\/(?!([a-z]+\/)?(plot|dialog(-actions)?\.|data-table|back-link|detail-columns|copy-button|save|show-first|export-drafts|admin|overview|runs|tasks|transfers)|bulk)/

/** Packs every file once, here, so that the server has nothing to compress. */
function packAssets(): Plugin {
  return {
    name: 'wharf-pack-assets',
    closeBundle() {
      const folder = `${OUT}/assets`
      for (const file of readdirSync(folder).filter((name) => /\.(js|css|svg)$/.test(name))) {
        writeFileSync(`${folder}/${file}.gz`, gzipSync(readFileSync(`${folder}/${file}`), { level: 9 }))
      }
    },
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), packAssets()],
  // The server puts a fresh value in its place with each answer.
  html: { cspNonce: '__WHARF_NONCE__' },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    manifest: true,
    target: 'es2022',
    // Nothing in the page itself: the policy of the page knows files only.
    assetsInlineLimit: 0,
    // One file of styles, there from the beginning: a page whose script is loaded later never comes without its own.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    // Small files that nearly every page uses are one: they pack better, and are asked for at once.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', test: SHARED }] } } },
    chunkSizeWarningLimit: 1_000,
  },
  // `vite console` beside a running Wharf, while you work on the console.
  server: { proxy: { '/api': process.env.WHARF_URL ?? 'http://127.0.0.1:8080' } },
})
