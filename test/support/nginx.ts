import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { spawnBound } from './bound-process.ts'
import { requireBinary } from './find-binary.ts'
import { until } from './until.ts'
import { temporaryFolder } from './wharf-process.ts'

/** undefined: this machine has none and cannot get one. */
export const NGINX = requireBinary('nginx')
if (!NGINX)
  console.error('\n!!! SKIPPED: checks with nginx. Install it (Debian: apt-get install nginx-light).\n')

export interface NginxOptions {
  /** With nginx's defaults but for `max_fails=0`: a connection for each request; the next server is tried when one refuses it. */
  address: string
  /** With connections that are kept, and requests of every method repeated on the next server when one breaks. */
  keeping: string
  upstream: string[]
}

/** A real nginx before several servers, set up in the two ways that the documentation names. */
export async function startNginx(options: NginxOptions) {
  if (!NGINX) throw new Error('nginx is missing')
  const folder = temporaryFolder()
  chmodSync(folder, 0o777)
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, options))
  const child = spawnBound(NGINX, ['-p', folder, '-c', file, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => (log += text))
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
  })
  await until(`nginx answers (${log})`, () =>
    fetch(`http://${options.address}/nginx-is-up`).then(
      ({ status }) => status === 204,
      () => false,
    ),
  )
  return { log: () => log }
}

function configuration(folder: string, { address, keeping, upstream }: NginxOptions): string {
  const servers = upstream.map((server) => `server ${server} max_fails=0;`).join(' ')
  return `
daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr notice;
events { worker_connections 512; }
http {
  access_log off;
  client_max_body_size 0;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  map $http_upgrade $connection_upgrade { default upgrade; '' close; }
  upstream wharf { ${servers} }
  upstream wharf_kept { ${servers} keepalive 8; }
  server {
    listen ${address};
    location = /nginx-is-up { return 204; }
    location / {
      proxy_pass http://wharf;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_buffering off;
      proxy_read_timeout 300s;
    }
  }
  server {
    listen ${keeping};
    location / {
      proxy_pass http://wharf_kept;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Connection '';
      proxy_next_upstream error timeout non_idempotent;
    }
  }
}
`
}
