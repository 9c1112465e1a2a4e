import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import packed from '../../package.json' with { type: 'json' };
import { projectRoot } from '../support/sources.ts';

/** Folder of the unpacked browser with its libraries and fonts, inside of node_modules. */
const chromiumFolder = join(projectRoot, 'node_modules/.chromium', packed.devDependencies['@sparticuz/chromium']);

/** Replaces the fontconfig file of the Chromium package, which names other folders: Chromium exits if it finds no font. */
const FONT_CONFIG = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** Starts a headless Chromium from the development dependencies, or the one of `CHROMIUM_PATH`. */
export async function openChromium(): Promise<Browser> {
  const own = process.env.CHROMIUM_PATH;
  if (own) return chromium.launch({ executablePath: own });
  if (!existsSync(chromiumFolder)) await unpackChromium();
  return chromium.launch({
    executablePath: join(chromiumFolder, 'chromium'),
    args: ['--no-zygote'],
    chromiumSandbox: false,
    env: {
      PATH: process.env.PATH,
      HOME: chromiumFolder,
      LD_LIBRARY_PATH: join(chromiumFolder, 'al2023/lib'),
      FONTCONFIG_FILE: join(chromiumFolder, 'fonts.conf'),
    },
  });
}

/** Unpacks @sparticuz/chromium, which writes to TMPDIR, and unpacks its libraries only in an environment like AWS Lambda. */
async function unpackChromium(): Promise<void> {
  await mkdir(dirname(chromiumFolder), { recursive: true });
  const folder = await mkdtemp(`${chromiumFolder}-`);
  try {
    const code = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();";
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: projectRoot,
      env: { TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [status] = (await once(child, 'exit')) as [number | null];
    if (status !== 0) throw new Error(`Chromium cannot be unpacked (${process.platform} ${process.arch})`);
    await writeFile(join(folder, 'fonts.conf'), FONT_CONFIG);
    // Another test process may have unpacked Chromium meanwhile.
    await rename(folder, chromiumFolder).catch((error) => {
      if (!existsSync(chromiumFolder)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
