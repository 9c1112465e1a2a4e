import { expect } from 'chai';
import type { Host } from '#kernel';
import { type SealedValues, sealedValues } from '../../../plugins/auth/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { writeTestPluginPackages } from '../../support/test-plugins.ts';

const OLD = 'the former secret of this service is long enough';
const NEW = 'the present secret of this service is long enough';

const codeOf = (work: () => unknown): unknown => {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('sealed values', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  before(async () => {
    database = await freshDatabase('sealed');
  });
  after(() => database?.drop());

  /** Starts a service with these secrets, and passes its sealed values. */
  async function withSealedValues(env: Record<string, string>, work: (values: SealedValues) => void): Promise<void> {
    let values: SealedValues | undefined;
    const register = (host: Host) => {
      values = host.use({ values: sealedValues }).values as SealedValues;
    };
    const uses = { 'sealed-values': '^1.0.0' };
    const plugin = await writeTestPluginPackages([{ name: 'sealing', manifest: { uses }, register }]);
    const service = await startService({ database, env, plugins: plugin.composition.plugins as URL[] });
    try {
      work(values as SealedValues);
    } finally {
      await service.stop();
      await plugin.remove();
    }
  }

  it('open for their purpose and holder until they expire, show nothing, and survive a change of SECRET', async () => {
    let kept = '';
    const value = { password: 'correct horse' };
    await withSealedValues({ SECRET: OLD }, (values) => {
      kept = values.seal('second step', 'browser', value, 600_000);
      expect(values.open('second step', 'browser', kept)).to.deep.equal(value);
      expect(codeOf(() => values.open('other', 'browser', kept))).to.equal('INVALID_TOKEN');
      expect(codeOf(() => values.open('second step', 'other', kept))).to.equal('INVALID_TOKEN');
      const expired = values.seal('second step', 'browser', value, -1);
      expect(codeOf(() => values.open('second step', 'browser', expired))).to.equal('TOKEN_EXPIRED');

      const bytes = Buffer.from(kept, 'base64url');
      for (const at of [0, 31, 32, 44, 60, bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] as number) ^ 1;
        const text = changed.toString('base64url');
        expect(
          codeOf(() => values.open('second step', 'browser', text)),
          `byte ${at}`,
        ).to.equal('INVALID_TOKEN');
      }
      for (const text of ['', 'x', kept.slice(0, 79), 'A'.repeat(20_000), '%'])
        expect(
          codeOf(() => values.open('second step', 'browser', text)),
          text.slice(0, 20),
        ).to.equal('INVALID_TOKEN');

      expect(bytes.toString('latin1')).to.not.include('correct');
      expect(values.seal('second step', 'browser', value, 600_000)).to.not.equal(kept);
      const lengths = ['', 'a', 'a'.repeat(100)].map((text) => values.seal('x', 'y', text, 1).length);
      expect(new Set(lengths).size, 'the length tells that of the value').to.equal(1);
    });
    await withSealedValues({ SECRET: NEW, SECRET_PREVIOUS: `unused,${OLD}` }, (values) => {
      expect(values.open('second step', 'browser', kept)).to.deep.equal(value);
    });
    await withSealedValues({ SECRET: NEW }, (values) => {
      expect(codeOf(() => values.open('second step', 'browser', kept))).to.equal('INVALID_TOKEN');
    });
  });
});
