// Loaded before Wharf: the network interfaces cannot be listed, as in a sandbox without AF_NETLINK.
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'

os.networkInterfaces = () => {
  throw Object.assign(new Error('uv_interface_addresses returned EAFNOSUPPORT'), { code: 'EAFNOSUPPORT' })
}
syncBuiltinESMExports()
