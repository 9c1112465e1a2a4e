import { expect } from 'chai';
import { type Failure, fail } from '#kernel';
import { createImageVariantSingleFlight } from '../../../../plugins/assets/transform/single-flight.ts';
import { createVariantReadyNotifications } from '../../../../plugins/assets/transform/variant-ready-notifications.ts';
import type { InterProcessBus, InterProcessLock } from '../../../../plugins/cluster/contract.ts';
import type { MediaFailureReason } from '../../../../plugins/media/contract.ts';
import { MediaError } from '../../../../plugins/media/library.ts';
import type { StorageLocation } from '../../../../plugins/storage/contract.ts';
import { captureError } from '../../../support/test-plugins.ts';
import { createVariantChooser, JPEG_FILE_RECORD } from './variant-choice-fixture.ts';

type Variant = Parameters<ReturnType<typeof createImageVariantSingleFlight>>[2];
type Making = (variant: Variant, runs: number) => Promise<unknown>;

/** A fake storage, lock and bus that several simulated processes share. */
function world(making: Making = async () => {}) {
  const stored = new Set<string>();
  const held = new Set<string>();
  const handlers: ((payload: unknown) => void)[] = [];
  const runs: string[] = [];
  let deaf = false;
  const location = {
    name: 'local',
    stat: async (name: string) => (stored.has(name) ? {} : undefined),
  } as StorageLocation;
  const lock: Pick<InterProcessLock, 'run' | 'attempt'> = {
    run: async (_name, work) => work(),
    async attempt(name, work) {
      if (held.has(name)) return undefined;
      held.add(name);
      try {
        return { value: await work() };
      } finally {
        held.delete(name);
      }
    },
  };
  const bus: InterProcessBus = {
    async publish(_channel, payload) {
      if (!deaf) for (const handle of handlers) handle(payload);
    },
    subscribe: (_channel, handle) => void handlers.push(handle),
    onReconnect() {},
    onLost() {},
    waitForConfirmation: async () => {},
  };
  const process = (maxConcurrent = 25) => {
    const once = createImageVariantSingleFlight({
      lock,
      remoteCompletion: createVariantReadyNotifications(bus),
      async make(_location, _file, variant) {
        runs.push(variant.name);
        const small = await making(variant, runs.length);
        stored.add(variant.name);
        return small as Buffer | undefined;
      },
      log: { info() {}, warn() {} } as never,
      maxConcurrent,
    });
    return (variant: Variant, file = JPEG_FILE_RECORD) => once(location, file, variant);
  };
  return {
    process,
    runs,
    stored,
    held,
    beDeaf: () => void (deaf = true),
  };
}

const choose = createVariantChooser();
async function variantOf(width: number): Promise<Variant> {
  const { variant } = await choose({ width: String(width) });
  if (!variant) throw new Error('no variant');
  return variant;
}
const refused = (reason: MediaFailureReason) => async () => {
  throw new MediaError(reason, `because of ${reason}`);
};
const times = <T>(count: number, work: () => T): T[] => Array.from({ length: count }, work);

describe('createSingleFlight, which makes each variant once', () => {
  it('fifty concurrent requests of one process make one image', async () => {
    const { process, runs } = world();
    const one = process();
    const variant = await variantOf(10);
    expect(new Set(await Promise.all(times(50, () => one(variant))))).to.deep.equal(new Set(['stored']));
    expect(runs).to.have.length(1);
  });

  it('the request that made a small image gets its bytes, all others read them from storage', async () => {
    const bytes = Buffer.from('image');
    const { process } = world(async () => bytes);
    const [one, other] = [process(), process()];
    const variant = await variantOf(10);
    const answers = await Promise.all([one(variant), one(variant), other(variant)]);
    expect(answers).to.deep.equal([bytes, 'stored', 'stored']);
    expect(await one(variant)).to.equal('stored');
  });

  it('concurrent requests of two processes make one image', async () => {
    const gate = Promise.withResolvers<void>();
    const { process, runs } = world(() => gate.promise);
    const [one, other] = [process(), process()];
    const variant = await variantOf(10);
    const all = [...times(25, () => one(variant)), ...times(25, () => other(variant))];
    await new Promise(setImmediate);
    gate.resolve();
    expect(new Set(await Promise.all(all))).to.deep.equal(new Set(['stored']));
    expect(runs).to.have.length(1);
  });

  it('a process that misses the message of another one finds the image in storage', async () => {
    const gate = Promise.withResolvers<void>();
    const { process, runs, beDeaf } = world(() => gate.promise);
    beDeaf();
    const variant = await variantOf(10);
    const all = [process()(variant), process()(variant)];
    gate.resolve();
    expect(await Promise.all(all)).to.deep.equal(['stored', 'stored']);
    expect(runs).to.have.length(1);
  });

  it('a process makes the image itself after another process failed', async () => {
    const { process, runs } = world(async (_variant, run) => {
      await new Promise(setImmediate);
      if (run === 1) throw new Error('that process has no disk left');
    });
    const variant = await variantOf(10);
    const [first, second] = await Promise.allSettled([process()(variant), process()(variant)]);
    expect(first).to.have.nested.property('reason.message', 'that process has no disk left');
    expect(second).to.have.property('value', 'stored');
    expect(runs).to.have.length(2);
  });

  for (const reason of ['tooLarge', 'timeout', 'invalid', 'damaged'] as const)
    it(`an image that failed with ${reason} fails again with the same error, without another attempt`, async () => {
      const { process, runs } = world(refused(reason));
      const one = process();
      const variant = await variantOf(10);
      const failures = await Promise.all(times(50, () => captureError<Failure>(one(variant))));
      failures.push(await captureError<Failure>(one(variant)));
      for (const failure of failures) {
        expect(failure.code).to.equal('ILLEGAL_ASSET_TRANSFORMATION');
        expect(failure.message).to.equal(`because of ${reason}`);
        expect(failure.extensions).to.deep.equal({ invalidTransformations: ['resize'] });
      }
      expect(runs).to.have.length(1);
      await captureError(one(await variantOf(11)));
      expect(runs, 'another one is tried').to.have.length(2);
    });

  it('a worker that ended makes the request fail with SERVICE_UNAVAILABLE', async () => {
    const failure = await captureError<Failure>(world(refused('broken')).process()(await variantOf(10)));
    expect(failure.code).to.equal('SERVICE_UNAVAILABLE');
    expect(failure.extensions).to.deep.include({ service: 'assets' });
  });

  it('an object that is no image is remembered for all its variants', async () => {
    const { process, runs } = world(refused('unsupported'));
    const one = process();
    expect(await one(await variantOf(10))).to.equal('noImage');
    expect(await one(await variantOf(11))).to.equal('noImage');
    expect(runs).to.have.length(1);
    const variant = await variantOf(12);
    await one(variant, { ...JPEG_FILE_RECORD, filename_disk: 'replaced.jpg' });
    expect(runs).to.have.length(2);
  });

  it('a failure that is not due to the image is retried with the next request', async () => {
    const { process, runs } = world(async (_variant, run) => {
      if (run === 1) throw fail('FORBIDDEN', 'the bytes are gone');
    });
    const one = process();
    const variant = await variantOf(10);
    expect((await captureError<Failure>(one(variant))).code).to.equal('FORBIDDEN');
    expect(await one(variant)).to.equal('stored');
    expect(runs).to.have.length(2);
  });

  it('an image whose row says that it is too large is rejected without an attempt', async () => {
    const { process, runs } = world();
    const failure = await captureError<Failure>(
      process()(await variantOf(10), { ...JPEG_FILE_RECORD, width: 6001, height: 6000 }),
    );
    expect(failure.code).to.equal('ILLEGAL_ASSET_TRANSFORMATION');
    expect(failure.extensions).to.deep.equal({ invalidTransformations: ['width'] });
    expect(runs).to.have.length(0);
  });

  it('images over ASSETS_TRANSFORM_MAX_CONCURRENT are rejected with SERVICE_UNAVAILABLE', async () => {
    const gate = Promise.withResolvers<void>();
    const { process, runs } = world(() => gate.promise);
    const one = process(2);
    const [a, b, c] = await Promise.all([variantOf(1), variantOf(2), variantOf(3)]);
    const waiting = [one(a as Variant), one(b as Variant), ...times(10, () => one(a as Variant))];
    await new Promise(setImmediate);
    const failure = await captureError<Failure>(one(c as Variant));
    expect(failure.code).to.equal('SERVICE_UNAVAILABLE');
    expect(failure.extensions).to.deep.equal({ service: 'assets', reason: '2 images are being made already' });
    gate.resolve();
    await Promise.all(waiting);
    expect(await one(c as Variant)).to.equal('stored');
    expect(runs).to.have.length(3);
  });

  it('images that another process makes do not count towards the limit', async () => {
    const gate = Promise.withResolvers<void>();
    const { process, runs } = world((variant) =>
      variant.name === remoteVariant.name ? gate.promise : Promise.resolve(),
    );
    const [remoteVariant, mine] = [await variantOf(1), await variantOf(2)];
    const there = process()(remoteVariant);
    const one = process(1);
    const waiting = one(remoteVariant);
    await new Promise(setImmediate);
    expect(await one(mine)).to.equal('stored');
    gate.resolve();
    expect(await Promise.all([there, waiting])).to.deep.equal(['stored', 'stored']);
    expect(runs).to.have.length(2);
  });
});
