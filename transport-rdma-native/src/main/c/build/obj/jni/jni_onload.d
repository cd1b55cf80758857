build/obj/jni/jni_onload.o: jni/jni_onload.c jni/jni_util.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/jni.h \
 /usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h verbs_api.h
jni/jni_util.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/jni.h:
/usr/lib/jvm/java-17-openjdk-amd64/include/linux/jni_md.h:
verbs_api.h:
