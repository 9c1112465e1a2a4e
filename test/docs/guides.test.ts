import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { findFreePort } from '../support/free-port.ts';
import { BashSession } from './bash-session.ts';
import { GuideProject } from './guide-project-folder.ts';
import { matchesDocumentedOutput, parseShellSteps, readGuideCodeBlocks } from './markdown-code-blocks.ts';

const DOCUMENTS = [
  'README.md',
  'docs/guides/api-users.md',
  'docs/guides/extension-authors.md',
  'docs/guides/admins.md',
  'docs/guides/auditors.md',
  'docs/guides/schema-as-code.md',
];

/** The database address in the guides, which readers replace by their own. */
const ADDRESS = 'postgres://user:password@host:5432/database';
const STARTS = /^((?:[A-Z_]+=\S+ +)*)npm start$/;

for (const document of DOCUMENTS) {
  describe(`every command of ${document}`, function () {
    this.timeout(240_000);

    let project: GuideProject;
    let shell: BashSession;
    let database: FreshDatabase;
    let environment: NodeJS.ProcessEnv;
    let ports: readonly [string, string];

    before(async () => {
      project = new GuideProject();
      database = await freshDatabase('guide');
      ports = [String(await findFreePort()), String(await findFreePort())];
      const { PATH, HOME } = process.env;
      environment = { PATH, HOME, PORT: ports[0] };
      shell = new BashSession(project.folder, environment);
    });

    after(async () => {
      shell?.close();
      await project?.remove();
      await database?.drop();
    });

    // Each command depends on those before it, so none runs after a failure.
    let failed: string | undefined;
    beforeEach(() => {
      if (failed !== undefined) throw new Error(`not run, since this failed: ${failed}`);
    });
    afterEach(function () {
      if (this.currentTest?.state === 'failed') failed ??= this.currentTest.title;
    });

    /** The commands with the ports, the database address and the printed password of this test run. */
    const localized = (text: string): string =>
      text
        .replaceAll('8055', ports[0])
        .replaceAll('8056', ports[1])
        .replaceAll(ADDRESS, database.url)
        .replace("PASSWORD='…'", () => `PASSWORD='${project.password() ?? ''}'`);

    async function run(commands: string): Promise<string> {
      let printed = '';
      let rest: string[] = [];
      for (const line of [...commands.split('\n'), '']) {
        const start = STARTS.exec(line);
        if (start || line === '') {
          if (rest.length > 0) printed += await shell.run(rest.join('\n'));
          rest = [];
        }
        if (start) {
          const assigned = (start[1] ?? '')
            .split(' ')
            .filter(Boolean)
            .map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]);
          await project.start({ ...environment, ...Object.fromEntries(assigned) });
        } else if (line !== '') {
          rest.push(line);
        }
      }
      return printed;
    }

    for (const block of readGuideCodeBlocks(new URL(`../../${document}`, import.meta.url))) {
      if (block.kind === 'file') {
        it(`line ${block.line}: the file ${block.path} is written`, () => project.write(block.path, block.text));
        continue;
      }
      const title = block.text.split('\n')[0] ?? '';
      it(`line ${block.line}: "${title}" succeeds and prints what the document shows`, async () => {
        if (block.stopsService) await project.stop();
        for (const { commands, output } of parseShellSteps(block.text)) {
          const printed = await run(localized(commands));
          if (output !== undefined)
            expect(matchesDocumentedOutput(printed, localized(output)), `${commands}\nprinted\n${printed}`).to.equal(
              true,
            );
          else expect(printed, commands).not.to.match(/"errors":\[/);
        }
      });
    }
  });
}
