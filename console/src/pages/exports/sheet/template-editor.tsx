import { json, jsonParseLinter } from '@codemirror/lang-json'
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint'
import { basicSetup, EditorView } from 'codemirror'
import { useEffect, useRef } from 'react'
import type { Problem } from '../../../api/problem.ts'
import { useProblemText } from '../../../parts/text/problem-text.ts'
import { nonce } from '../../../theme/nonce.ts'
import { locateJson } from './locate-json.ts'
import './template-editor.css'

export interface TemplateEditorProps {
  label: string
  value: string
  onChange(value: string): void
  /** What the server has against the template, and the text that it was said of. */
  refused: { problem: Problem; text: string } | null
}

/** JSON with its errors marked in place: the ones of its form at once, the ones of its meaning when the server has said so. */
export function TemplateEditor({ label, value, onChange, refused }: TemplateEditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const now = useRef({ value, onChange, refused })
  now.current = { value, onChange, refused }
  const problemText = useProblemText()
  const said = useRef('')
  if (refused) {
    const { title, detail, code } = problemText(refused.problem)
    said.current = `${title}\n${detail} (${code})`
  }
  useEffect(() => {
    if (!place.current) return
    const parse = jsonParseLinter()
    const made = new EditorView({
      doc: now.current.value,
      parent: place.current,
      extensions: [
        basicSetup,
        json(),
        lintGutter(),
        linter((editor): Diagnostic[] => {
          const text = editor.state.doc.toString()
          if (text.trim() === '') return []
          const broken = parse(editor)
          return broken.length > 0 ? broken : toldByServer(text, now.current.refused, said.current)
        }),
        EditorView.cspNonce.of(nonce),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.lineWrapping,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) now.current.onChange(update.state.doc.toString())
        }),
      ],
    })
    view.current = made
    return () => made.destroy()
  }, [label])
  useEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    const editor = view.current
    if (!editor || !refused) return
    editor.dispatch(
      setDiagnostics(editor.state, toldByServer(editor.state.doc.toString(), refused, said.current)),
    )
  }, [refused])
  return <div ref={place} className="template-editor" />
}

function toldByServer(text: string, refused: TemplateEditorProps['refused'], said: string): Diagnostic[] {
  if (!refused || refused.text !== text || !refused.problem.path?.startsWith('template')) return []
  const { problem } = refused
  const { from, to } = locateJson(text, (problem.path ?? '').slice('template'.length))
  const start = problem.position === undefined ? from : Math.min(from + problem.position, to - 1)
  return [{ from: start, to, severity: 'error', message: said }]
}
