import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { auditText, boot } from '#kernel';
import { composition } from '../../plugins/preset.ts';
import { quiet } from '../support/plugin.ts';

describe('architecture: audit', () => {
  it('docs/audit.txt is what the product says about itself (npm run --silent audit > docs/audit.txt)', async () => {
    const kernel = await boot(composition(), { environment: { ...quiet, EXTENSIONS_PATH: '/dev/null' } });
    const written = await readFile(new URL('../../docs/audit.txt', import.meta.url), 'utf8').catch(() => '');
    expect(written).to.equal(auditText(kernel.audit()));
    await kernel.stop();
  });
});
