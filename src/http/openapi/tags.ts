/** Every operation has exactly one of these. */
export const TAGS = [
  { name: 'exports', description: 'Page a source and make a file; templates, saved exports, connections' },
  { name: 'transfers', description: 'Deliver a file to many hosts; the repository and the agents' },
  { name: 'runs', description: 'Accounts and the runs that download their feeds' },
  {
    name: 'processing',
    description: 'Resumable uploads (tus 1.0), the tasks made of them, and their results',
  },
  { name: 'events', description: 'The event log; `GET /ws` sends the same messages over a WebSocket' },
  { name: 'projects', description: 'Projects, their keys, quotas and masks' },
  { name: 'sessions', description: 'Who is signed in, and how' },
  { name: 'audit', description: 'Who did what' },
  { name: 'overview', description: 'The state of the installation' },
  { name: 'health', description: 'For load balancers and monitoring' },
  { name: 'samples', description: 'A source to try exports on' },
]
