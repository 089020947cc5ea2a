/**
 * What nobody may do to Wharf, by actor. A line is proven by tests: by those whose name begins with its id in brackets,
 * as in `test('[leaked-key] …')`, and by those whose names are listed here. `npm run threats` writes the lines and the names
 * of their tests into docs/threat-model.md, and a test fails when a line has no test or the page is not up to date.
 */
export interface ThreatLine {
  id: string
  /** The sentence that the tests prove. */
  holds: string
  /** Names of tests that carry no marker. */
  tests?: readonly string[]
}

export const THREATS: Readonly<Record<string, readonly ThreatLine[]>> = {
  'A stranger': [
    {
      id: 'no-key',
      holds:
        'Without a key nothing answers over HTTP but health, metrics, the API reference, the samples and the console; gRPC has a token of its own.',
    },
    {
      id: 'ticket',
      holds: 'A ticket is good for its own task and time; not a letter of it can be changed or added.',
      tests: ['the download address works without a key, for a while, for its own task, unchanged'],
    },
    { id: 'key-in-address', holds: 'A key or the admin token in an address opens nothing.' },
    {
      id: 'csrf',
      holds: 'A page of another origin does nothing with the session of a browser, and signs nobody in.',
    },
    {
      id: 'oidc-forged',
      holds: 'Only a sign-in that this browser began, with an answer of the issuer for it, opens a session.',
    },
    { id: 'open-redirect', holds: 'Signing in leads to a page of this server and to no other.' },
    {
      id: 'stale-key',
      holds: 'What is open to everybody is open to somebody with an old key, too.',
    },
    {
      id: 'rude',
      holds: 'Connections that are reset or broken off end nothing but themselves.',
      tests: [
        'a WebSocket that is reset while it is let in ends nothing',
        'a download that is broken off ends neither the server nor its record',
      ],
    },
  ],
  "A project's key": [
    { id: 'scope', holds: 'A key does what its scopes say, on every route.' },
    {
      id: 'foreign-id',
      holds: 'What belongs to another project does not exist for it, on every route that takes an id.',
    },
    {
      id: 'foreign-agent',
      holds: 'No spelling of agent and container reaches an agent that it may not send to.',
      tests: ['an agent and a container whose names join to those of another are not the other'],
    },
    {
      id: 'foreign-biz',
      holds: 'It sends nothing under the biz_id of another project, on no instance.',
      tests: ['an admin grants, lists and takes back a biz_id; other instances notice at once'],
    },
    {
      id: 'leaked-key',
      holds: 'Once deleted, it opens nothing on any instance; its tickets, links and streams end with it.',
    },
    {
      id: 'template-cost',
      holds: 'No template that is accepted costs more than a stated factor per cell.',
      tests: ['per cell is at most the stated factor of its length, for every template that is accepted'],
    },
    {
      id: 'quota',
      holds: 'However many files it writes at the same time, together they take no more room than its quota.',
    },
    {
      id: 'scan',
      holds: 'Where files are scanned, none is seen by anybody before the scan has let it in.',
    },
    {
      id: 'foreign-upload',
      holds: 'An upload of one project becomes no task of another.',
      tests: ['a task of one project does not exist for another, nor does its upload'],
    },
  ],
  'An operator': [
    {
      id: 'empty-setting',
      holds:
        'An empty setting opens nothing: a list is empty, `REDIS_PASSWORD` means none, anything else stops the start.',
      tests: ['an empty WHARF_ALLOW_HOSTS is an empty list: it closes loopback'],
    },
  ],
  'A person': [
    { id: 'no-role', holds: 'Who has no role that the identity provider says gets no session.' },
    {
      id: 'session-end',
      holds:
        'A session that is over opens nothing on any instance; its tickets, links and streams end with it.',
    },
  ],
  'A source': [
    {
      id: 'private-net',
      holds: 'It leads Wharf to no private address, by name, by redirect or by a name that changes.',
      tests: [
        'a name that resolves to a refused address is not contacted',
        'a name that resolves differently the second time gains nothing',
        'a redirect to a refused address is not followed',
      ],
    },
    {
      id: 'stray-secrets',
      holds: 'Keys, cookies and signatures go to the origin that was asked for, and to no other.',
      tests: ['another origin sees neither keys nor cookies nor signatures, not even on the way back'],
    },
    {
      id: 'echoed-secrets',
      holds: 'A secret that another side repeats in its answer is neither shown nor stored.',
      tests: [
        'no secret that a source or a token server repeats in its answer is shown or stored',
        'a secret is hidden in every form in which another side repeats it',
      ],
    },
    {
      id: 'bomb',
      holds: 'A small answer that unpacks into a large one stops at the limit.',
      tests: ['a %s bomb stops at the limit'],
    },
    {
      id: 'endless-feed',
      holds: 'A feed that brings nothing new ends its run, however many pages it names.',
    },
    {
      id: 'sql-size',
      holds: 'However large the rows of a query are, a page or two of them are in memory.',
    },
    {
      id: 'sql-time',
      holds: 'A query lifts no limit of time, whatever it does to its session.',
    },
    {
      id: 'many-keys',
      holds: 'However many keys an answer or a template has, reading it costs no more than its bytes.',
    },
  ],
  'A callback receiver': [
    {
      id: 'callback',
      holds: 'It can tell a callback of Wharf from any other, and leads it into no private net.',
      tests: [
        'a callback carries the task as a GET shows it, signed by Standard Webhooks',
        'a callback into a forbidden net is refused at connect time, and not tried again',
      ],
    },
  ],
  'An agent': [
    {
      id: 'agent-roots',
      holds: 'A delivery leaves the directories of the agent by no path, link or name.',
      tests: ['hold against paths that lead out of them, by dots, by links, by names'],
    },
    {
      id: 'agent-order',
      holds: 'An agent takes only orders that are signed for it as a whole.',
      tests: [
        'task, file name, places, user, project and manifest are signed together',
        'an order for another agent, or an old one, is refused',
      ],
    },
    {
      id: 'agent-message',
      holds: 'No message of an agent stops a delivery for others.',
      tests: [
        'what would stop others is refused',
        '%s from one agent ends its own line, and nothing for the others',
      ],
    },
    {
      id: 'agent-identity',
      holds: 'Only who has the key that was enrolled speaks for an agent, and a token enrols one agent once.',
      tests: [
        'nobody gets in without the key that was enrolled',
        'a token enrols the agent that it is for, once, and only with a key that peers can use',
        'only an admin enrols and revokes agents; a revoked one is gone at once and stays out',
      ],
    },
    {
      id: 'agent-revoked',
      holds: 'A revoked agent is let go at once, and neither server nor peers take its certificate.',
      tests: ['a revoked agent is let go at once, stays out, and no peer takes its certificate'],
    },
    {
      id: 'agent-server',
      holds: 'An agent believes only the server that it was enrolled with.',
      tests: ['an agent believes a welcome only from its own server, for its own name and key, on this line'],
    },
    {
      id: 'agent-allow',
      holds: 'An agent takes files only of projects and for users that its owner lists; root must be listed.',
      tests: [
        'nothing is allowed by default',
        'root under any name is root',
        'an agent refuses what its owner did not allow, each target by its own code',
      ],
    },
  ],
  'A processor': [{ id: 'processor', holds: 'A command sees no secret of the server in its environment.' }],
  'Someone with Redis': [
    {
      id: 'bus',
      holds: 'Instances take only messages of their own installation, each once.',
      tests: [
        'a message of somebody without the key is refused, and so is one that was changed',
        'what somebody else records on Redis and says again is not heard twice',
      ],
    },
    {
      id: 'bus-welcome',
      holds: 'No message between instances changes whom an agent believes.',
      tests: ['a welcome does not travel over the bus'],
    },
    {
      id: 'wake-keys',
      holds: 'Whatever is made of the keys that carry wake-ups, Wharf makes them anew, and work goes on.',
    },
    {
      id: 'foreign-result',
      holds: 'No record of a task in Redis hands out the file of another task.',
    },
    {
      id: 'redis-user',
      holds: 'A Redis user for processors, as the docs have it, reaches only the keys of tasks.',
      tests: ['the Redis users in the docs may do their work, and nothing else'],
    },
  ],
  'Someone on the host': [
    {
      id: 'planted-link',
      holds:
        'What a processor, a gateway or another user puts into a shared folder makes Wharf follow no link, wait for no pipe, and change no file elsewhere.',
    },
    {
      id: 'host-user',
      holds: 'Another user of the host reads nothing that Wharf keeps, except the folders that are shared.',
    },
    {
      id: 'sealed-files',
      holds:
        'Where files are encrypted, nobody who can read the store can read them, and one that was changed there is refused.',
    },
    { id: 'ledger-copy', holds: 'A copy of the ledger opens no secret when the seal key is kept apart.' },
  ],
}
