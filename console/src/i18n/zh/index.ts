import common from './common.json'
import exports from './exports.json'
import overview from './overview.json'

/** One file a domain. */
export default { common, exports, overview }
