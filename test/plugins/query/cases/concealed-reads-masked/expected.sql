select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2."id" as "id", case when t2."secret" is null then null else '**********' end as "secret" from (select t1.* from "public"."person" t1 where (not (coalesce(t1."secret", '') = '')) order by t1."id" limit 100) t2) r
-- []
