import { describeStorageDriverConformance } from '../storage/conformance.ts';
import { type S3Server, startS3Server } from './s3-server.ts';

describe('storage-s3: conformance of the driver', function () {
  this.timeout(120_000);
  let server: S3Server;
  before(async () => {
    server = await startS3Server();
  });
  after(() => server?.stop());

  // `many` exceeds one page of a list: 1,000 objects on other servers, 20 on the Swift server of the tests.
  describeStorageDriverConformance(async () => server.open(), { many: process.env.TEST_S3_URL ? 1050 : 50 });
});
