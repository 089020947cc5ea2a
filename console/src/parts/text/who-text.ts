import type { TFunction } from 'i18next'

/** The server says `person NAME`, `key NAME`, `ticket of key NAME`, `ticket` or `admin`. A ticket is a link that was passed on. */
export function whoText(who: string, t: TFunction): string {
  const [, kind = who, name = ''] = /^(person|key|ticket of key) (.*)$/s.exec(who) ?? []
  switch (kind) {
    case 'person':
      return name
    case 'key':
      return t('exports.who.key', { name })
    case 'ticket of key':
      return t('exports.who.link_of_key', { name })
    case 'ticket':
      return t('exports.who.link')
    case 'admin':
      return t('exports.who.admin')
    default:
      return who
  }
}
