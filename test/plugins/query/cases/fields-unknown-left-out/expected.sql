select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2."title" as "title", case when t3."id" is not null then '{}'::json end as "author" from (select t1.*, t1."id" as "~0" from "public"."book" t1 order by t1."id" limit 100) t2 left join "public"."person" t3 on t3."id" = t2."author" order by t2."~0") r
-- []
