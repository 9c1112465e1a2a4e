/**
 * `npm run bench:assets [-- --seconds 2 --rounds 3 --connections 32 --images 160 --only warm]`: compares the assets of the
 * service with two baselines, in alternating rounds of one run: stored images with a hand-written server of static files, and new
 * transformations with sharp alone. Compare ratios; absolute numbers depend on the machine. `--only` takes `warm`, `cold` or a
 * name of the first table; `--profile <folder>` writes CPU profiles of both servers.
 */
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { COLD_TRANSFORM_MAX_RATIO as COLD_AIM, measureColdTransforms } from './bench-assets/cold.ts';
import { startAssetBenchServers } from './bench-assets/compared-servers.ts';
import { measureWarmAssets, WARM_ASSET_BENCH_SCENARIOS } from './bench-assets/warm.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    images: { type: 'string', default: '160' },
    only: { type: 'string' },
    profile: { type: 'string' },
  },
});
const options = {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  connections: Number(values.connections),
};
const cell = (value: number | string, width: number, digits = 0): string =>
  (typeof value === 'number' ? value.toFixed(digits) : value).padStart(width);

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench_assets');
const missed: string[] = [];
try {
  const sides = await startAssetBenchServers(database, values.profile);
  try {
    const shapes = WARM_ASSET_BENCH_SCENARIOS.filter(({ name }) => [undefined, 'warm', name].includes(values.only));
    if (shapes.length > 0) {
      console.log(`${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s each; medians`);
      console.log('images in storage     KB  requests/s    bare  ratio  CPU ms/request    bare  ratio');
      for (const shape of shapes) {
        const { bytes, service, bare } = await measureWarmAssets(shape, sides, options, database);
        const ratio = service.perSecond / bare.perSecond;
        const { name, aim = 0 } = shape;
        if (ratio < aim) missed.push(`${name}: ${ratio.toFixed(2)} of the bare server, aim ${aim}`);
        console.log(
          name.padEnd(18) +
            cell(bytes / 1024, 6) +
            cell(service.perSecond, 12) +
            cell(bare.perSecond, 8) +
            cell(ratio, 7, 2) +
            cell(service.cpu, 16, 3) +
            cell(bare.cpu, 8, 3) +
            cell(service.cpu / bare.cpu, 7, 2),
        );
      }
    }
    if ([undefined, 'cold'].includes(values.only)) {
      console.log('\nimages to be made of 12 megapixels    ms an image    sharp  ratio');
      for await (const { name, service, bare, ratio } of measureColdTransforms(sides, Number(values.images))) {
        if (ratio > COLD_AIM) missed.push(`${name}: ${ratio.toFixed(2)} of sharp alone, aim ${COLD_AIM}`);
        console.log(name.padEnd(34) + cell(service, 15, 1) + cell(bare, 9, 1) + cell(ratio, 7, 2));
      }
    }
  } finally {
    await sides.stop();
  }
} finally {
  await database.drop();
  await server.stop();
}
console.log('');
for (const line of missed) console.log(`missed: ${line}`);
if (missed.length === 0) console.log('all aims met');
else process.exitCode = 1;
