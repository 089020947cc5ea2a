import { expect, test } from 'vitest'
import { ERRORS, isAppError } from '../../src/kernel/index.ts'
import { parseAllowHosts } from '../../src/net/index.ts'

test('entries are parted by commas and blanks, and sorted into hosts and ranges', () => {
  const text =
    'erp.intern, CRM.Intern:8080 *.corp.intern\n10.0.0.0/8,192.168.1.7, ::1 [fd00::1]:443,[fd00::2],*.x:80'
  expect(parseAllowHosts(text)).toEqual({
    hosts: ['erp.intern', 'crm.intern:8080', '*.corp.intern', '[fd00::1]:443', '*.x:80'],
    cidrs: ['10.0.0.0/8', '192.168.1.7/32', '::1/128', 'fd00::2/128'],
  })
})

test('an empty setting allows nothing', () => {
  expect(parseAllowHosts('')).toEqual({ hosts: [], cidrs: [] })
  expect(parseAllowHosts(' , ')).toEqual({ hosts: [], cidrs: [] })
})

test.each([
  ['http://erp.intern/', 'without the scheme'],
  ['10.0.0.5/8', 'write 10.0.0.0/8 for the whole range or 10.0.0.5 for the one'],
  ['10.0.0.0/33', 'from 0 to 32'],
  ['fd00::/129', 'from 0 to 128'],
  ['10.0.0.0/', 'from 0 to 32'],
  ['erp/8', 'a CIDR looks like'],
  ['10.0.0.0/8/8', 'a CIDR looks like'],
  ['erp.intern:0', 'from 1 to 65535'],
  ['erp.intern:65536', 'from 1 to 65535'],
  ['erp.intern:http', 'from 1 to 65535'],
  ['erp.intern:', 'from 1 to 65535'],
  ['*', 'give a host name'],
  ['*.', 'give a host name'],
  ['a.*.intern', 'give a host name'],
  ['*.10.0.0.1', 'give a host name'],
  ['user@erp.intern', 'give a host name'],
  ['[fd00::1', 'give a host name'],
  ['[erp]', 'give a host name'],
  ['1.2.3.400', 'give a host name'],
])('"%s" stops the start with a hint', (entry, hint) => {
  const error = thrownBy(() => parseAllowHosts(`erp.intern,${entry}`))
  expect(isAppError(error, ERRORS.CONFIG_INVALID)).toBe(true)
  expect(String(error)).toContain(`WHARF_ALLOW_HOSTS: "${entry}"`)
  expect(String(error)).toContain(hint)
})

function thrownBy(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}
