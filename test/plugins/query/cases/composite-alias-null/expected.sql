select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."film" t1 where (not exists (select 1 from "public"."role" t2 where t2."film" = t1."id" and (true))) order by t1."id" limit 100) r
-- []
