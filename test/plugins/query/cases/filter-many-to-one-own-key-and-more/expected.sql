select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 where (exists (select 1 from "public"."person" t2 where t2."id" = t1."author" and (t2."id" > $1::int8 and t2."name" is not null))) order by t1."id" limit 100) r
-- ["1"]
