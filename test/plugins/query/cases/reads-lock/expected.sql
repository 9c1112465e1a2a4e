select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", case when t1."lock" is null then null else '**********' end as "lock" from "public"."thing" t1 order by t1."id" limit 100) r
-- []
