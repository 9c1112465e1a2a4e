import { startService } from '/work/main/test/support/service.ts';
import { asAdmin, personWith } from '/work/main/test/http/people.ts';
describe('leak', () => { it('x', async () => {
  const service = await startService();
  const admin = (m: string, p: string, b?: unknown) => asAdmin(service, m, p, b);
  await admin('POST','/collections',{collection:'seen',schema:{},fields:[{field:'open',type:'string'},{field:'closed',type:'string'},{field:'to_unseen',type:'integer'}]});
  await admin('POST','/collections',{collection:'unseen',schema:{}});
  await admin('POST', '/relations', { collection: 'seen', field: 'to_unseen', related_collection: 'unseen' });
  const { token } = await personWith(service, [{ collection: 'seen', action: 'read', fields: ['id', 'open', 'to_unseen'] }], { app_access: true });
  for (const p of ['/collections','/fields','/relations']) {
    const r = await service.request('GET', p, { token });
    for (const one of r.body.data) if (/"unseen"|"closed"/.test(JSON.stringify(one))) console.log(p, JSON.stringify(one));
  }
  console.log((await service.request('GET','/collections',{token})).body.data.map((x: any)=>x.collection).join());
  let stale: Record<string, number> = {};
  for (let i=0;i<60;i++) {
    const q = (s: string) => service.database.query(s);
    await q('create table t2 (id serial primary key)');
    if ((await service.request('GET','/items/t2',{token:service.admin.token})).status!==200) stale.create=(stale.create??0)+1;
    await q('alter table t2 add column b int'); 
    const r = await service.request('POST','/items/t2',{token:service.admin.token, body:{b:1}});
    if (r.body.data?.b!==1) stale.add=(stale.add??0)+1;
    await q('alter table t2 add column c int'); 
    const r2 = await service.request('GET','/items/t2?fields=c',{token:service.admin.token});
    if (!('c' in r2.body.data[0])) stale.named=(stale.named??0)+1;
    await q('alter table t2 add column d int'); 
    const r4 = await service.request('GET','/items/t2?filter[d][_null]=true',{token:service.admin.token});
    if (r4.status!==200) stale.filter=(stale.filter??0)+1;
    await q('alter table t2 drop column c');
    const r3 = await service.request('GET','/items/t2',{token:service.admin.token});
    if (r3.status!==200) stale.drop=(stale.drop??0)+1;
    await q('alter table t2 add column c text');
    const r5 = await service.request('PATCH','/items/t2/1',{token:service.admin.token, body:{c:'text'}});
    if (r5.status!==200 || r5.body.data.c!=='text') stale.patch=(stale.patch??0)+1;
    await q('alter table t2 drop column b');
    const r6 = await service.request('PATCH','/items/t2/1',{token:service.admin.token, body:{c:'u'}});
    if (r6.status!==200 ) {stale.patchdrop=(stale.patchdrop??0)+1; console.log(JSON.stringify(r6.body));}
    await q('drop table t2');
    if ((await service.request('GET','/items/t2',{token:service.admin.token})).status!==403) stale.droptable=(stale.droptable??0)+1;
  }
  console.log('stale', stale);
  await service.stop();
}); });
