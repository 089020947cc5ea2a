import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AllowList } from '../../src/net/guard/allow-hosts.ts'
import { AddressGuard, LOOPBACK_ONLY, NOTHING_PRIVATE, parseAllowHosts } from '../../src/net/index.ts'

const closed = new AddressGuard(NOTHING_PRIVATE)
const decide = (address: string, allow: AllowList | string = NOTHING_PRIVATE, host = address, port = 80) =>
  new AddressGuard(typeof allow === 'string' ? parseAllowHosts(allow) : allow).decide(address, host, port)

const REFUSED: Record<string, string[]> = {
  'a loopback address': ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'],
  'an unspecified address': ['0.0.0.0', '0.1.2.3', '::'],
  'a private address': [
    ...['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
    ...['fc00::1', 'fd12:3456::1', 'fdff::', 'fec0::1'],
  ],
  'a link-local address': [
    '169.254.0.1',
    '169.254.255.255',
    'fe80::1',
    'febf::1',
    'fe80::1%eth0',
    'fe80::5efe:8.8.8.8',
  ],
  'a carrier-grade NAT address': ['100.64.0.1', '100.127.255.255'],
  'a multicast address': ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  'the broadcast address': ['255.255.255.255'],
  'a reserved address': [
    ...['192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '240.0.0.1'],
    ...['192.88.99.1', '2001:db8::1', '2001:2::1', '2001:10::1', '100::1', '3fff::1', '5f00::1', '4000::1'],
    ...['::7f00:1', '::a00:1', '1::1'],
  ],
  'a cloud metadata address': [
    ...[
      '169.254.169.254',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      'fd00:ec2::254',
      'fd20:ce::254',
    ],
    ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', 'fd00:ec2::254%eth0'],
  ],
}

const PUBLIC = [
  ...['8.8.8.8', '1.1.1.1', '9.255.255.255', '11.0.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255'],
  ...['100.63.255.255', '100.128.0.0', '169.253.0.1', '223.255.255.255', '126.255.255.255', '128.0.0.1'],
  ...['2606:4700::1111', '2a00:1450:4001::1', '2400:cb00::1'],
  ...[
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
    '2606:4700::5efe:8.8.8.8',
    '64:ff9b:1::808:808',
  ],
]

/** Each way to hide an IPv4 address inside an IPv6 one. */
const CARRIERS: Record<string, (a: number, b: number, c: number, d: number) => string> = {
  'a mapped address': (a, b, c, d) => `::ffff:${a}.${b}.${c}.${d}`,
  'a mapped address in hex': (a, b, c, d) => `::ffff:${hex(a, b)}:${hex(c, d)}`,
  'a translated address': (a, b, c, d) => `::ffff:0:${hex(a, b)}:${hex(c, d)}`,
  NAT64: (a, b, c, d) => `64:ff9b::${hex(a, b)}:${hex(c, d)}`,
  'local NAT64 of /48': (a, b, c, d) => `64:ff9b:1:${hex(a, b)}:${hex(0, c)}:${hex(d, 0)}:0:0`,
  'local NAT64 of /56': (a, b, c, d) => `64:ff9b:1:${hex(0, a)}:${hex(0, b)}:${hex(c, d)}:0:0`,
  'local NAT64 of /64': (a, b, c, d) => `64:ff9b:1:0:${hex(0, a)}:${hex(b, c)}:${hex(d, 0)}:0`,
  'local NAT64 of /96': (a, b, c, d) => `64:ff9b:1::${hex(a, b)}:${hex(c, d)}`,
  '6to4': (a, b, c, d) => `2002:${hex(a, b)}:${hex(c, d)}::1`,
  'a Teredo server': (a, b, c, d) => `2001:0:${hex(a, b)}:${hex(c, d)}:0:0:f7f7:f7f7`,
  'a Teredo client': (a, b, c, d) => `2001:0:808:808:0:0:${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`,
  ISATAP: (a, b, c, d) => `2606:4700::5efe:${hex(a, b)}:${hex(c, d)}`,
  'universal ISATAP': (a, b, c, d) => `2606:4700::200:5efe:${hex(a, b)}:${hex(c, d)}`,
}

function hex(high: number, low: number): string {
  return ((high << 8) | low).toString(16)
}

type IPv4 = [number, number, number, number]

const octet = fc.integer({ min: 0, max: 255 })
const privateIPv4: fc.Arbitrary<IPv4> = fc.oneof(
  fc.tuple(fc.constant(10), octet, octet, octet),
  fc.tuple(fc.constant(127), octet, octet, octet),
  fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
)

describe('without an allow-list', () => {
  for (const [reason, addresses] of Object.entries(REFUSED))
    test.each(addresses)(`%s is refused as ${reason}`, (address) => {
      expect(closed.decide(address, 'example.com', 443)).toEqual({ allowed: false, reason })
    })

  test.each(PUBLIC)('%s is allowed', (address) => {
    expect(closed.decide(address, 'example.com', 443)).toEqual({ allowed: true, reason: 'public' })
  })

  test.each([
    '',
    'localhost',
    'example.com',
    '1.2.3.4.5',
    '10.0.0.1/8',
    '10.0.0.1@8.8.8.8',
    '8.8.8.8:80',
    '256.1.1.1',
  ])('what is no address ("%s") is refused', (text) => {
    expect(closed.decide(text, 'example.com')).toEqual({ allowed: false, reason: 'not an IP address' })
  })

  test.each(Object.entries(CARRIERS))('a private address inside %s is refused', (_name, carry) => {
    fc.assert(fc.property(privateIPv4, (bytes) => !closed.decide(carry(...bytes), 'example.com').allowed))
  })
})

describe('every notation of an address', () => {
  const NOTATIONS: ((a: number, b: number, c: number, d: number) => string)[] = [
    (a, b, c, d) => `${((a << 24) | (b << 16) | (c << 8) | d) >>> 0}`,
    (a, b, c, d) => `0x${(((a << 24) | (b << 16) | (c << 8) | d) >>> 0).toString(16)}`,
    (a, b, c, d) => `0${(((a << 24) | (b << 16) | (c << 8) | d) >>> 0).toString(8)}`,
    (a, b, c, d) => `${a}.${(b << 16) | (c << 8) | d}`,
    (a, b, c, d) => `0x${a.toString(16)}.${b}.${(c << 8) | d}`,
    (a, b, c, d) => [a, b, c, d].map((byte) => `0${byte.toString(8)}`).join('.'),
    (a, b, c, d) => [a, b, c, d].map((byte) => `0X${byte.toString(16)}`).join('.'),
    (a, b, c, d) => `${a}.${b}.${c}.${d}.`,
    (a, b, c, d) =>
      `${a}.${b}.${c}.${d}`.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    (a, b, c, d) => `${a}。${b}．${c}｡${d}`,
    (a, b, c, d) => `${a}.${b}.${c}.${d}`.replace(/\d/g, (digit) => `%3${digit}`),
    (a, b, c, d) => `[::ffff:${a}.${b}.${c}.${d}]`,
  ]

  test('of a private address is refused', () => {
    fc.assert(
      fc.property(privateIPv4, fc.constantFrom(...NOTATIONS), (bytes, write) => {
        const verdict = closed.decide(write(...bytes), 'x')
        return !verdict.allowed && verdict.reason !== 'not an IP address'
      }),
    )
  })

  test('of a public address is allowed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...NOTATIONS), (write) => closed.decide(write(8, 8, 4, 4), 'x').allowed),
    )
  })

  test.each([
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::ffff:127.0.0.1]',
    '127.0.0.1.',
    '0x7f000001',
  ])('of loopback (%s) follows the allow-list', (text) => {
    expect(closed.decide(text, text).reason).toBe('a loopback address')
    expect(decide(text, LOOPBACK_ONLY).allowed).toBe(true)
  })
})

describe('the allow-list', () => {
  test.each([
    ['10.1.2.3', '10.0.0.0/8', true],
    ['11.1.2.3', '11.0.0.0/8', true],
    ['192.168.1.1', '10.0.0.0/8', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.4', '10.1.2.3', false],
    ['fd00::5', 'fd00::/16', true],
    ['fd01::5', 'fd00::/16', false],
    ['::ffff:10.1.2.3', '10.0.0.0/8', true],
    ['64:ff9b::a01:203', '10.0.0.0/8', true],
    ['2002:a01:203::1', '192.168.0.0/16', false],
    ['::1', '127.0.0.0/8', false],
    ['127.0.0.1', '::1', false],
    ['127.0.0.1', '0x7f.1', true],
  ])('lets %s through or not by address: %s', (address, list, allowed) => {
    expect(decide(address, list, 'intern').allowed).toBe(allowed)
  })

  test.each([
    ['erp.intern', 'erp.intern', 80, true],
    ['ERP.intern.', 'erp.intern', 80, true],
    ['erp.intern', 'ERP.Intern.', 80, true],
    ['crm.intern', 'erp.intern', 80, false],
    ['erp.intern', 'erp.intern:8080', 8080, true],
    ['erp.intern', 'erp.intern:8080', 80, false],
    ['a.corp.intern', '*.corp.intern', 80, true],
    ['a.b.corp.intern', '*.corp.intern', 80, true],
    ['corp.intern', '*.corp.intern', 80, false],
    ['evilcorp.intern', '*.corp.intern', 80, false],
    ['a.corp.intern', '*.corp.intern:443', 80, false],
    ['a.corp.intern', '*.corp.intern:443', 443, true],
    ['10.0.0.9', '10.0.0.9:9000', 9000, true],
    ['10.0.0.9', '10.0.0.9:9000', 9001, false],
    ['anything.example', '10.0.0.9:9000', 9000, true],
    ['xn--bcher-kva.intern', 'bücher.intern', 80, true],
  ])('lets the host %s through or not: %s on port %i', (host, list, port, allowed) => {
    expect(decide('10.0.0.9', list, host, port).allowed).toBe(allowed)
  })

  test.each(['*.evil.example', 'evil.example', '169.254.0.0/16', '0.0.0.0/0'])(
    'opens cloud metadata to nobody but an entry for that very address, so not to %s',
    (list) => {
      expect(decide('169.254.169.254', list, 'a.evil.example').allowed).toBe(false)
    },
  )

  test('opens cloud metadata when it is listed itself', () => {
    expect(decide('169.254.169.254', '169.254.169.254').allowed).toBe(true)
  })

  test('with loopback only opens nothing else', () => {
    expect(decide('127.0.0.1', LOOPBACK_ONLY).allowed).toBe(true)
    expect(decide('::1', LOOPBACK_ONLY).allowed).toBe(true)
    for (const address of ['10.0.0.1', '0.0.0.0', '169.254.169.254', '::', 'fe80::1'])
      expect(decide(address, LOOPBACK_ONLY).allowed).toBe(false)
  })
})
