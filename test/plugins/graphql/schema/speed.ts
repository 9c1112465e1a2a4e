import { buildSchema } from '../../../../plugins/graphql/schema/build.ts';
import { adminSet } from '../../../../plugins/access/permissions/set.ts';
import { listed } from '../../../../plugins/access/listed.ts';
import { sketch } from '../../../../test/plugins/query/overview.ts';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
setFlagsFromString('--expose-gc'); const gc = runInNewContext('gc');
const types = ['string','text','integer','boolean','timestamp','json','decimal','uuid','date'];
const tables: any = {};
for (let c = 0; c < 200; c++) {
  const f: any = { id: 'integer key' };
  for (let i = 0; i < 16; i++) f['field_'+i] = types[i % types.length];
  f.parent = `one c${(c * 7 + 1) % 200}`;
  f.other = `one c${(c * 3 + 2) % 200}`;
  tables['c' + c] = f;
}
for (let c = 0; c < 200; c++) tables['c' + ((c * 7 + 1) % 200)]['kids'] = `many c${c}.parent`;
const overview = sketch(tables);
const once = () => buildSchema({ overview, permissions: adminSet('1'), listed, scope: 'items', contributed: [], warn() {} });
gc(); 
const kept = [];
let m0 = process.memoryUsage().heapUsed;
for (let i = 0; i < 8; i++) { const t = performance.now(); kept.push(once()); const ms = performance.now() - t; gc(); const m = process.memoryUsage().heapUsed; console.log(ms.toFixed(1), 'ms', ((m - m0) / 1e6).toFixed(1), 'MB'); m0 = m; }
console.log(Object.keys(kept[0].getTypeMap()).length, Object.values(kept[0].getTypeMap()).reduce((n, t: any) => n + (t.getFields ? Object.keys(t.getFields()).length : 0), 0));
