select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."person" t1 where ((select count(*) from "public"."book" t2 where t2."author" = t1."id") >= $1::int8) order by t1."id" limit 100) r
-- ["1"]
