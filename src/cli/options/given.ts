import { InvalidArgumentError } from 'commander'

/** For arguments that a script may leave empty by mistake: an empty name or folder would mean something else. */
export function given(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('It must not be empty.')
}
