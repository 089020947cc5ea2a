import { AppError, ERRORS } from '../../kernel/index.ts'

/**
 * The one way in which a template is refused: `path` leads to the node (`template.ceil[2].children[0].type`), and
 * `position` is the column, counted from 1, inside a text found there. Never tried again: the same template stays wrong.
 */
export function templateError(path: string, message: string, position?: number): AppError {
  const place = position === undefined ? path : `${path}, position ${position}`
  return new AppError(ERRORS.TEMPLATE_INVALID, `${place}: ${message}`, {
    details: position === undefined ? { path } : { path, position },
    retryable: false,
  })
}
