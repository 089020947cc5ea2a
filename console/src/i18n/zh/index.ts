import common from './common.json'
import exports from './exports.json'
import lists from './lists.json'
import overview from './overview.json'
import processing from './processing.json'
import runs from './runs.json'
import transfers from './transfers.json'

/** One file a domain. */
export default { common, exports, lists, overview, processing, runs, transfers }
