export { sendAsset } from './assets.ts'
export { sendConsolePage, wantsPage } from './page.ts'
