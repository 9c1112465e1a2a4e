import { diag } from '@opentelemetry/api';
import { expect } from 'chai';
import type { Log } from '#kernel';
import { type OtlpMetricsExport, otlpMetricsExport } from '../../../plugins/telemetry/contract.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { type TestPlugin, writeTestPluginPackages } from '../../support/test-plugins.ts';

interface Line {
  readonly reason: string;
  readonly omitted?: number;
}

/** A log that keeps its warnings. */
function createLog() {
  const lines: Line[] = [];
  return { lines, log: { warn: (line: Line) => void lines.push(line) } as unknown as Log };
}

let otlp: OtlpMetricsExport;
const exporting: TestPlugin = {
  name: 'exporting',
  manifest: { uses: { otlp: '^1.0.0' } },
  register(host) {
    ({ otlp } = host.use({ otlp: otlpMetricsExport }));
  },
};

describe('the log of problems that OpenTelemetry reports', () => {
  let service: InProcessService;
  let removePackages: () => Promise<void>;
  before(async () => {
    const { composition, remove } = await writeTestPluginPackages([exporting]);
    removePackages = remove;
    service = await startService({ plugins: composition.plugins });
  });
  after(async () => {
    await service?.stop();
    await removePackages?.();
  });

  const ends: (() => void)[] = [];
  const start = async (log: Log) => {
    const end = await otlp.startDiagnosticLog(log);
    ends.push(end);
    return end;
  };
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  it('is kept until the last plugin that exports has stopped, in whatever order they stop', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const all = [createLog(), createLog()] as const;
      const [first, second] = [await start(all[0].log), await start(all[1].log)];
      diag.error('one');
      expect(all.map(({ lines }) => lines)).to.deep.equal([[], [{ reason: 'one' }]]);
      [first, second][order[0]]?.();
      diag.warn('two');
      expect(all[order[1]].lines.at(-1)).to.deep.equal({ reason: 'two' });
      [first, second][order[1]]?.();
      diag.error('three');
      expect(all.flatMap(({ lines }) => lines)).to.have.length(2);
    }
  });

  it('has a repeated problem once, at most ten problems a minute, and short ones', async () => {
    const { log, lines } = createLog();
    await start(log);
    for (let at = 0; at < 1000; at++) diag.error('the same');
    for (let at = 0; at < 1000; at++) diag.error(`${at}${'x'.repeat(100_000)}`);
    expect(lines).to.have.length(10);
    expect(lines[0]).to.deep.equal({ reason: 'the same' });
    expect(lines[1]).to.include({ omitted: 999 });
    expect(lines[1]?.reason).to.have.length(2000);
  });

  it('has no information below a warning', async () => {
    const { log, lines } = createLog();
    await start(log);
    diag.info('started');
    diag.debug('details');
    expect(lines).to.deep.equal([]);
  });
});
