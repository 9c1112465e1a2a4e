import { expect } from 'chai';
import { type MetricSource, metricSources } from '../../../plugins/metrics/contract.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { captureError, type TestPlugin, writeTestPluginPackages } from '../../support/test-plugins.ts';

const TOKEN = 'a-token-for-prometheus';
const HISTOGRAM = { boundaries: [1, 2], counts: [0, 1, 0], sum: 2, count: 1 };

/** What `collect` of the source weather returns, which need not be of the type. */
let weather: unknown = {};
let contributeSource: (source: unknown) => void;

const author: TestPlugin = {
  name: 'author',
  manifest: { contributes: { 'metrics.sources': { services: ['rooms', 'weather'] } } },
  register(host) {
    contributeSource = (source) => host.contribute(metricSources, source as MetricSource);
    contributeSource({
      service: 'weather',
      metrics: {
        weather_degrees: { kind: 'gauge', help: 'Degrees.' },
        weather_wind: { kind: 'histogram', help: 'Wind.' },
      },
      collect: () => weather,
    });
    contributeSource({
      service: 'rooms',
      metrics: { rooms_free: { kind: 'gauge', help: 'Free rooms.' } },
      collect: () => ({ rooms_free: [{ labels: { floor: '1' }, value: 3 }] }),
    });
  },
};

let service: InProcessService;
let removePackages: () => Promise<void>;
before(async () => {
  const { composition, remove } = await writeTestPluginPackages([author]);
  removePackages = remove;
  service = await startService({
    env: {
      METRICS_ENABLED: 'true',
      METRICS_TOKENS: TOKEN,
      METRICS_SERVICES: 'rooms,weather,metrics',
      LOG_LEVEL: 'warn',
    },
    plugins: composition.plugins,
  });
});
after(async () => {
  await service?.stop();
  await removePackages?.();
});

/** The text that Prometheus reads, how often weather has failed until then, and why it fails now. */
async function scrape(samples: unknown) {
  weather = samples;
  const from = service.log.length;
  const read = () => service.request('GET', '/metrics', { headers: { authorization: `Metrics ${TOKEN}` } });
  const { status, body } = await read();
  const reasons = service.log
    .slice(from)
    .filter(({ msg }) => msg === 'metrics were not collected')
    .map(({ err }) => (err as Error).message);
  weather = {};
  // A failure is counted in the next read.
  const { body: next } = await read();
  const [, failures = '0'] =
    /^tenon_metrics_source_failures_total\{service="weather",owner="author"\} (\d+)$/m.exec(next) ?? [];
  return { status, text: String(body), reasons, failures: Number(failures) };
}

describe('a source of metrics whose samples are malformed', () => {
  const gauge = (sample: unknown) => ({ weather_degrees: [{ value: 1 }, sample] });
  const histogram = (value: unknown) => ({ weather_degrees: [{ value: 1 }], weather_wind: [{ value }] });
  for (const [title, samples, reason] of [
    ['no samples', undefined, 'it returns no object'],
    ['null', null, 'it returns no object'],
    ['a number in place of a list', { weather_degrees: 5 }, 'weather_degrees is no list of samples'],
    ['a text in place of a list', { weather_degrees: 'abc' }, 'weather_degrees is no list of samples'],
    ['null in place of a list', { weather_degrees: null }, 'weather_degrees is no list of samples'],
    ['null in place of a sample', gauge(null), 'weather_degrees has a sample that is no object'],
    ['a number in place of a sample', gauge(5), 'weather_degrees has a sample that is no object'],
    ['labels that are a text', gauge({ labels: 'a', value: 1 }), 'weather_degrees has labels that are no object'],
    [
      'a label that begins with a digit',
      gauge({ labels: { '1a': 'x' }, value: 1 }),
      'weather_degrees has a label "1a"',
    ],
    ['a label without a name', gauge({ labels: { '': 'x' }, value: 1 }), 'weather_degrees has a label ""'],
    ['a label with a hyphen', gauge({ labels: { 'a-b': 'x' }, value: 1 }), 'weather_degrees has a label "a-b"'],
    ['a reserved label', gauge({ labels: { __name__: 'x' }, value: 1 }), 'weather_degrees has a label "__name__"'],
    [
      'a label value that is no text',
      gauge({ labels: { a: Object.create(null) }, value: 1 }),
      'weather_degrees has a value of the label a that is no text',
    ],
    ['no value of a histogram', histogram(null), 'weather_wind has a value that is no histogram'],
    ['a number as a histogram', histogram(5), 'weather_wind has a value that is no histogram'],
    ['an empty histogram', histogram({}), 'weather_wind has a value that is no histogram'],
    [
      'a histogram without counts',
      histogram({ ...HISTOGRAM, counts: undefined }),
      'weather_wind has a value that is no histogram',
    ],
    [
      'a histogram with too few counts',
      histogram({ ...HISTOGRAM, counts: [1, 2] }),
      'weather_wind has a value that is no histogram',
    ],
    [
      'a histogram whose boundaries do not ascend',
      histogram({ ...HISTOGRAM, boundaries: [2, 1] }),
      'weather_wind has a value that is no histogram',
    ],
    [
      'a histogram without a sum',
      histogram({ ...HISTOGRAM, sum: undefined }),
      'weather_wind has a value that is no histogram',
    ],
    [
      'a histogram with the label of its ranges',
      { weather_wind: [{ labels: { le: '1' }, value: HISTOGRAM }] },
      'weather_wind has a label "le"',
    ],
  ] as const)
    it(`is left out, counted and logged, and other sources are not: ${title}`, async () => {
      const { failures: earlier } = await scrape({});
      const { status, text, reasons, failures } = await scrape(samples);
      expect(status).to.equal(200);
      expect(text).to.contain('tenon_rooms_free{floor="1"} 3\n');
      expect(text).not.to.match(/^tenon_weather_/m);
      expect(failures - earlier).to.equal(1);
      expect(reasons).to.have.length(1);
      expect(reasons[0]).to.match(new RegExp(`^${reason}`));
    });
});

describe('a source of metrics whose samples are right', () => {
  it('is collected, without values that are no finite number', async () => {
    const { text, reasons } = await scrape({
      weather_degrees: [{ labels: { city: 'Bern', le: '1' }, value: 12 }, { value: Number.NaN }, { value: undefined }],
      weather_wind: [{ value: HISTOGRAM }],
      unknown: 5,
    });
    expect(text)
      .to.contain('tenon_weather_degrees{city="Bern",le="1"} 12\n')
      .and.to.contain('tenon_weather_wind_count 1\n');
    expect(text).not.to.match(/NaN|undefined|unknown/);
    expect(reasons).to.deep.equal([]);
  });
});

describe('a source of metrics that cannot be used', () => {
  const collect = () => ({});
  for (const [title, source, problem] of [
    ['no function', { metrics: {} }, 'it has no function collect'],
    ['no metrics', { collect }, 'it has no metrics'],
    ['metrics that are null', { metrics: null, collect }, 'it has no metrics'],
    ['a metric that is null', { metrics: { a: null }, collect }, 'a has no kind'],
    ['a metric without help', { metrics: { a: { kind: 'gauge' } }, collect }, 'a has no help'],
  ] as const)
    it(`is refused with the reason: ${title}`, async () => {
      const error = await captureError(() => contributeSource({ service: 'weather', ...source }));
      expect(error.code).to.equal('CAPABILITY_DENIED');
      expect(error.message).to.contain(problem);
    });
});
