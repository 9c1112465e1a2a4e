import { expect } from 'chai';
import { runRefusedAttempt } from './cheating-plugin-fixture.ts';

const text = { type: 'string' } as const;

describe('a third-party plugin that declares settings of other plugins', () => {
  const claims: readonly [what: string, config: Record<string, unknown>, message: RegExp][] = [
    ['a secret by its name', { SECRET: text }, /the setting SECRET already belongs to core/],
    ['the password of the database', { DB_PASSWORD: text }, /the setting DB_PASSWORD already belongs to core/],
    ['a setting of the kernel', { PORT: text }, /the setting PORT already belongs to kernel/],
    ['the file that holds a secret', { SECRET_FILE: text }, /SECRET_FILE.*belongs to core/],
    ['everything that begins with a letter', { 'S*': text }, /S\* stands for settings of any owner/],
    ['everything', { 'DB*': text }, /DB\* stands for settings of any owner/],
    ['a family of settings', { 'DB_*': text }, /DB_\* overlaps with DB_PASSWORD, which belongs to core/],
    ['one setting under a pattern of another', { CORE_PART_ONE: text }, /overlaps with CORE_PART_\*/],
    ['a narrower pattern than that of another', { 'CORE_PART_X_*': text }, /overlaps with CORE_PART_\*/],
    ['a shared secret', { shared: ['SECRET'] }, /SECRET is a secret of core/],
    ['a shared pattern', { shared: ['CORE_PART_*'] }, /CORE_PART_\* is a secret of core/],
    ['a shared setting that no plugin has', { shared: ['NO_SUCH_KEY'] }, /NO_SUCH_KEY is shared by no plugin/],
  ];
  for (const [what, config, message] of claims) {
    it(`a third-party plugin is denied ${what}`, async () => {
      const outcome = await runRefusedAttempt({
        manifest: { config },
        environment: { SECRET: 'value', DB_PASSWORD: 'value' },
      });
      expect(outcome.message).to.match(message);
      expect(outcome.message).not.to.contain('value');
      expect(outcome.denied).to.have.length(1);
    });
  }

  it('host.config denies a setting that the manifest does not declare', async () => {
    const { message, denied } = await runRefusedAttempt({
      manifest: { config: { shared: ['PUBLIC_NAME'] } },
      later: (own) => void own.config.SECRET,
    });
    expect(message).to.contain('cheat may not read the setting SECRET');
    expect(denied).to.have.length(1);
  });
});
