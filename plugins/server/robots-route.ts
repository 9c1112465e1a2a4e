import type { HttpContext } from '../http/contract.ts';

/** Answers `GET /robots.txt`. The setting has `\\n` for line breaks, since an environment variable rarely has any. */
export function createRobotsRouteHandler(setting: string): (ctx: HttpContext) => void {
  const text = `${setting.replaceAll('\\n', '\n').trimEnd()}\n`;
  return (ctx) => {
    ctx.type = 'text/plain; charset=utf-8';
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.body = text;
  };
}
