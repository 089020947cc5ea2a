// node s3-process.ts: an S3 server on a free port of loopback, which keeps its objects in memory. Prints its address and
// what to sign requests with, as JSON.
import { S3Server } from '../../../test/support/s3-server.ts'

const { endpoint, region, bucket, accessKeyId, secretAccessKey } = await S3Server.start()
console.log(JSON.stringify({ endpoint, region, bucket, accessKeyId, secretAccessKey }))
