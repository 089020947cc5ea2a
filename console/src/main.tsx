import { createRoot } from 'react-dom/client'
import './theme/tokens.css'
import './theme/base.css'
import './theme/print.css'
import { findSession } from './api/who.ts'
import { App } from './app.tsx'
import { startI18n } from './i18n/start.ts'
import { watchOtherTabs } from './live/other-tabs.ts'

await startI18n()
watchOtherTabs()
void findSession()
createRoot(document.getElementById('root') as HTMLElement).render(<App />)
