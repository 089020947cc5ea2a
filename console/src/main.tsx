import { createRoot } from 'react-dom/client'
import './theme/tokens.css'
import './theme/base.css'
import { App } from './app.tsx'
import { startI18n } from './i18n/start.ts'

await startI18n()
createRoot(document.getElementById('root') as HTMLElement).render(<App />)
