import common from './common.json'
import exports from './exports.json'
import lists from './lists.json'

/** What the first view needs, one file a domain. */
export default { common, exports, lists }
