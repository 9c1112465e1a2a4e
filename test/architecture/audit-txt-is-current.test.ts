import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { boot } from '#kernel/boot';
import { AUDIT_VERBS, renderAudit } from '../../plugins/broker/library.ts';
import { listCorePlugins } from '../../plugins/core-plugins.ts';
import { silentSettings } from '../support/test-plugins.ts';

describe('architecture: audit', () => {
  it('docs/audit.txt equals the audit (npm run --silent audit > docs/audit.txt), which uses AUDIT_VERBS only', async () => {
    const kernel = await boot(listCorePlugins(), { environment: { ...silentSettings, EXTENSIONS_PATH: '/dev/null' } });
    const written = await readFile(new URL('../../docs/audit.txt', import.meta.url), 'utf8').catch(() => '');
    const lines = kernel.audit();
    await kernel.stop();
    expect(written).to.equal(renderAudit(lines));
    const verbs = new Set(lines.flatMap(({ authorities }) => authorities.map(({ verb }) => verb)));
    expect([...verbs].filter((verb) => !(AUDIT_VERBS as readonly string[]).includes(verb))).to.deep.equal([]);
  });
});
