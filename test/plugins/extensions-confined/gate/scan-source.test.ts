import { expect } from 'chai';
import { scanSourceForForbiddenUses } from '../../../../plugins/extensions-confined/gate/scan-source.ts';
import { processorTime } from '../../../support/processor-time.ts';

const codes = (source: string): readonly string[] => scanSourceForForbiddenUses(source).uses.map(({ code }) => code);

describe('scanSourceForForbiddenUses', () => {
  const refused: Readonly<Record<string, readonly [string, string]>> = {
    'a module of the runtime': ["import { join } from 'node:path';", 'USES_NODE_BUILTIN'],
    'a module of the runtime without prefix': ["import os from 'os';", 'USES_NODE_BUILTIN'],
    'files by import': ["import { readFile } from 'fs/promises';", 'USES_RAW_FS'],
    'files by require': ["const fs = require('node:fs');", 'USES_RAW_FS'],
    'files by a literal dynamic import': ["const fs = await import('fs');", 'USES_RAW_FS'],
    'files by a template without substitutions': ['const fs = await import(`fs`);', 'USES_RAW_FS'],
    'a re-export': ["export * from 'node:fs';", 'USES_RAW_FS'],
    'an HTTP module': ["import https from 'node:https';", 'USES_RAW_NETWORK'],
    'an HTTP package': ["import axios from 'axios';", 'USES_RAW_NETWORK'],
    'a bare call of fetch': ['const r = await fetch("https://a.example");', 'USES_RAW_NETWORK'],
    'fetch of the global object': ['globalThis.fetch(url)', 'USES_RAW_NETWORK'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a script
    'fetch in a template': ['const t = `a ${await fetch(url)} b`;', 'USES_RAW_NETWORK'],
    'fetch after a division': ['const x = a / b; fetch(url); const y = c / d;', 'USES_RAW_NETWORK'],
    'fetch in a ternary': ['const x = a ? fetch(b) : c;', 'USES_RAW_NETWORK'],
    'fetch destructured from the global object': ['const { fetch } = globalThis; fetch(url);', 'USES_RAW_NETWORK'],
    'child processes': ["import { spawn } from 'child_process';", 'USES_CHILD_PROCESS'],
    'the environment': ['const key = process.env.KEY;', 'USES_RAW_ENV'],
    'the environment by its name in brackets': ["const key = process['env'].KEY;", 'USES_RAW_ENV'],
    'destructuring of the environment': ['const { env } = process;', 'USES_RAW_ENV'],
    'the module of the environment': ["import { env } from 'node:process';", 'USES_RAW_ENV'],
    'a computed require': ['const x = require(name);', 'USES_DYNAMIC_REQUIRE'],
    'a require of a sum': ["const x = require('./a' + name);", 'USES_DYNAMIC_REQUIRE'],
    'a computed import': ['const x = await import(name);', 'USES_DYNAMIC_IMPORT'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a script
    'an import of a template with substitutions': ['const x = await import(`./${name}.js`);', 'USES_DYNAMIC_IMPORT'],
    'a call of eval': ['eval("1 + 1")', 'USES_DYNAMIC_CODE'],
    'a function made from text': ['const f = new Function("return 1");', 'USES_DYNAMIC_CODE'],
    'the service itself': ["import { boot } from '@tenon/kernel';", 'USES_INTERNAL_IMPORT'],
    'an SDK for full authority': [
      "import { defineHook } from '@acme/extensions-sdk';",
      'USES_LEGACY_SDK_RUNTIME_IMPORT',
    ],
    'an SDK export for full authority': [
      "import { defineEndpoint } from '@tenon/extension-sdk';",
      'USES_LEGACY_SDK_RUNTIME_IMPORT',
    ],
  };
  for (const [what, [source, code]] of Object.entries(refused)) {
    it(`${what} is ${code}`, () => expect(codes(source)).to.deep.equal([code]));
  }

  const allowed: Readonly<Record<string, string>> = {
    'comments that speak of it': '// fetch(url)\n/* eval(x) require(y) */ const a = 1; // process.env',
    'strings that speak of it': `const a = 'fetch(url)'; const b = "eval('x')"; const c = \`import("fs") \${a} process.env\`;`,
    'regular expressions that speak of it': 'const a = /fetch(url)/g; const b = x.match(/["\']/) ? /eval(1)/ : 2;',
    'a regular expression with a slash in a class': 'const a = /[/\'"]fetch(x)/.test(b);',
    'members of other objects':
      'host.request.send(x); cache.fetch(y); obj.eval(z); a.process.env; m.require(n); q?.fetch(1);',
    'methods of that name':
      'class A { fetch(url) { return 1; } async eval(x) { return x; } static import(y) { return y; } }',
    'methods of that name in an object': 'const a = { fetch(url) { return 1; }, require(x) { return x; } };',
    'methods in an interface': 'interface A { fetch(url: string): Promise<void>; eval(x: string): number }',
    'an own function of that name': 'function fetch(url) { return url; }\nfetch(1);',
    'an imported function of that name': "import { fetch } from './own.js'; fetch(1);",
    'types of modules of the runtime':
      "import type { Stats } from 'node:fs'; import { type Server, type Agent } from 'node:http';",
    'exported types': "export type { Stats } from 'node:fs';",
    'other packages, which the author builds in': "import { z } from 'zod'; import lodash from 'lodash/merge';",
    'the kit': "import { defineJsonEndpoint, type JsonRequest } from '@tenon/extension-sdk';",
    TypeScript:
      'const a = <T,>(x: T): x is T & { f: Function } => x as unknown as boolean; let b: typeof fetch; enum C { A }',
    'what only begins alike': 'prefetch(1); fetchAll(2); evaluate(3); processes.env; preprocess.env;',
    'keys of that name': 'const a = { import: 1, export: 2, require: 3, fetch: 4, process: 5 };',
    'the word from in other places': "export const from = 'x'; const b = { from: 'fs' }; import.meta;",
  };
  for (const [what, source] of Object.entries(allowed)) {
    it(`${what} is allowed`, () => expect(scanSourceForForbiddenUses(source).uses).to.deep.equal([]));
  }

  it('relative imports are listed', () => {
    const source =
      "import a from './a.js'; export * from '../b'; const c = require('./c'); import('./d'); import type { T } from './e';";
    expect(scanSourceForForbiddenUses(source).relative).to.deep.equal(['./a.js', '../b', './c', './d']);
  });

  it('uses are listed in the order of the source', () => {
    expect(codes("fetch(a); const b = require('fs'); process.env; eval(c)")).to.deep.equal([
      'USES_RAW_NETWORK',
      'USES_RAW_FS',
      'USES_RAW_ENV',
      'USES_DYNAMIC_CODE',
    ]);
  });

  it('hostile text is scanned within the time limit', function () {
    this.timeout(120_000);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a script
    const bombs = ['/[', 'fetch(', '`${', 'import a,', '{fetch,', 'import {a,', '=/', '((', '"\\', 'import(`${a}'];
    for (const bomb of bombs) {
      const since = processorTime();
      scanSourceForForbiddenUses(bomb.repeat(Math.floor(200_000 / bomb.length)));
      expect(processorTime() - since, bomb).to.be.below(3000);
    }
  });

  it('the time of a scan grows linearly with the source', () => {
    const hard = ['require(', '{fetch,', 'import {', '{env}=process;', '=/[a', '`${', 'x = process['];
    for (const part of hard) {
      const timed = (length: number) => {
        const source = part.repeat(length / part.length);
        const since = processorTime();
        scanSourceForForbiddenUses(source);
        return processorTime() - since;
      };
      timed(50_000);
      expect(timed(1_000_000), part).to.be.below(2_000);
    }
  });
});
